import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AxeResults } from 'axe-core'
import { chromium, type Page } from 'playwright'
import type { Test } from 'tap'
import { buildConsole } from '../../../api-gateway/console/build.ts'
import { toId } from '../../../crds/src/identifiers/names.ts'
import type { CaptureResult, Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { fillOnce } from '../../cluster/host/fill-once.ts'
import { findLanePlane } from '../../support/lanes/lane.ts'
import { serve } from '../../support/servers/serve.ts'
import { complete } from '../api-gateway/runner-role.ts'
import { startWorld } from '../api-gateway/world.ts'
import { endEach } from '../links/stage.ts'

// The built console at real gateways, with a real API server, a real object store and a real browser. `complete` stands in for runners.

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type Stage = Awaited<ReturnType<typeof startStage>>

/** The built console. All files of a run share it. A file that runs by itself builds its own. */
export async function provideConsole(t: Test): Promise<string> {
  const lane = await findLanePlane()
  const root = lane ? path.dirname(lane.directory) : await mkdtemp(path.join(tmpdir(), 'tintype-console-'))
  if (!lane) t.teardown(() => rm(root, { recursive: true, force: true }))
  const directory = path.join(root, 'console')
  await fillOnce(directory, async (draft) => void (await buildConsole(draft)))
  return directory
}

/** Starts everything, and stops it after the test. */
export async function startStage(t: Test) {
  const directory = await provideConsole(t)
  const world = await startWorld()
  t.teardown(() => world.stop())
  const start = () => world.startGateway({ TINTYPE_CONSOLE_DIRECTORY: directory })
  const gateways = [await start(), await start()] as const
  await world.createAccount('acme')
  /** Key of the account `acme` with all scopes. */
  const key = await world.createKey({ accountName: 'acme', name: 'Ada' })
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.setContent('<body style="margin:0;background:linear-gradient(#fdd,#ddf);font:40px sans-serif">A captured page')
  /** A PNG of 1280 × 800 pixels. */
  const picture = await page.screenshot()
  await page.close()
  return { world, gateways, browser, directory, key, picture }
}

/** Ends each new capture with the picture, until the test ends. */
export const captureEach = (t: Test, { world, picture }: Stage, more: Partial<CaptureResult> = {}) =>
  endEach(t, world, (shot: Screenshot) => complete(toId(shot.metadata.name), picture, world, { width: 1280, height: 800, ...more }))

export type Visit = Awaited<ReturnType<typeof visit>>

interface VisitOptions {
  width?: number
  colorScheme?: 'light' | 'dark'
}

/** Opens a page that reports everything that a browser complains about. */
export async function visit(t: Test, { browser }: Stage, { width = 1280, colorScheme = 'light' }: VisitOptions = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  t.teardown(() => context.close())
  const page = await context.newPage()
  /** Errors of the page and of its policy. */
  const complaints: string[] = []
  const requests: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => requests.push(request.url()))
  return { page, context, complaints, requests }
}

/** Opens the console and signs in with an API key. */
export async function signIn({ page }: Visit, url: string, key: string): Promise<void> {
  await page.goto(`${url}/`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

interface ConsoleOptions extends VisitOptions {
  /** Default: that of the stage. */
  key?: string
  /** Default: the playground. */
  path?: string
}

/** Opens a page of the console, signed in with an API key. */
export async function openConsole(t: Test, stage: Stage, { key = stage.key, path, ...options }: ConsoleOptions = {}): Promise<Visit> {
  const { url } = stage.gateways[0]
  const seen = await visit(t, stage, options)
  await signIn(seen, url, key)
  if (path !== undefined) await seen.page.goto(`${url}/#/${path}`)
  return seen
}

/** Violations of WCAG 2.2 A and AA and of best practice, as axe finds them. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run())
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
}

/** Pixels by which the page is wider than the window. */
const overflowOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth')

/** Asserts that a page is accessible and fits its window, in light and in dark. */
export async function assertAccessible(t: Test, page: Page, what: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.strictSame(await findViolations(page), [], `${what}, ${colorScheme}`)
    t.equal(await overflowOf(page), 0, `${what}, ${colorScheme}`)
  }
}

/** A server of another port, and so of another origin of the same site, with an empty page. */
export const startForeignSite = (t: Test): Promise<string> =>
  serve(t, (_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
