import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { captureDefaults } from '@tintype/crds/options/catalog'
import { run } from '../../../cluster/host/exec.ts'
import { repository } from '../../../cluster/host/state.ts'
import { openLines } from '../../harness/line-program.ts'
import { endedProcessorSeconds, processorSeconds } from '../../harness/processes.ts'
import type { LoopOrder, LoopResult } from './bare-loop.ts'
import { benchCache, installPackages } from './engine.ts'
import type { PuppeteerOrder, PuppeteerResult } from './puppeteer-program.ts'

/** One capture method in the engine benchmark. */
export interface Contender {
  name: string
  /** Supported numbers of concurrent pages, of 1, 2 and 4. */
  lanes: readonly number[]
  /** Captures each page once. */
  run: (pages: readonly string[], lanes: number) => Promise<Run>
  /** Seconds of processor time used so far, including its browsers. */
  processorSeconds: () => number
  close: () => Promise<void>
}

/** Results of one run. */
export interface Run {
  milliseconds: number
  /** Encoded pictures by page, read after the measurement. */
  pictures: ReadonlyMap<string, Buffer>
}

export const VIEWPORT = { width: captureDefaults.viewportWidth, height: captureDefaults.viewportHeight }

/** The result of a program that returns pictures in base64. */
const toRun = ({ totalMilliseconds, pictures }: Pick<LoopResult, 'totalMilliseconds' | 'pictures'>): Run => ({
  milliseconds: totalMilliseconds,
  pictures: new Map(Object.entries(pictures).map(([page, text]) => [page, Buffer.from(text, 'base64')])),
})

/** The bare loop on this machine, with one browser per lane, by raw DevTools or page.screenshot(). */
export function openBare(executablePath: string): { raw: Contender; library: Contender; reference: Contender } {
  const program = path.join(import.meta.dirname, 'bare-loop.ts')
  const env = { ...process.env, BARE_MODULES: path.join(repository, 'capture-runner/package.json'), BARE_CHROMIUM: executablePath }
  const loop = openLines<LoopOrder, LoopResult>(process.execPath, [program], env)
  const contender = (name: string, way: LoopOrder['way'], lanes: readonly number[]): Contender => ({
    name,
    lanes,
    run: async (pages, browsers) => toRun(await loop.ask({ pages, count: 1, browsers, way, viewport: VIEWPORT, pictures: true })),
    processorSeconds: () => processorSeconds([loop.pid]),
    close: loop.close,
  })
  return {
    raw: contender('bare loop', 'raw', [1, 2, 4]),
    library: contender('bare loop, page.screenshot()', 'library', [1, 2, 4]),
    reference: contender('reference', 'reference', [1]),
  }
}

// Two common screenshot tools, used as their READMEs show. They are installed outside the repository, and use the same browser as the
// product.

const NPM = { 'puppeteer-cluster': '0.25.0', 'puppeteer-core': '25.16.0' }
const SHOT_SCRAPER = '1.12'

/** puppeteer-cluster from npm, with one context per page. */
export async function openPuppeteerCluster(executablePath: string): Promise<Contender> {
  const home = await installPackages('puppeteer-cluster', NPM)
  const options = { executablePath, headless: 'shell', defaultViewport: VIEWPORT, args: FLAGS }
  const env = { ...process.env, PUPPETEER_MODULES: path.join(home, 'package.json'), PUPPETEER_OPTIONS: JSON.stringify(options) }
  const program = openLines<PuppeteerOrder, PuppeteerResult>(
    process.execPath,
    [path.join(import.meta.dirname, 'puppeteer-program.ts')],
    env,
  )
  return {
    name: `puppeteer-cluster ${NPM['puppeteer-cluster']}`,
    lanes: [1, 2, 4],
    run: async (pages, lanes) => toRun(await program.ask({ pages, lanes })),
    processorSeconds: () => processorSeconds([program.pid]),
    close: program.close,
  }
}

/** shot-scraper from PyPI: `shot-scraper multi`, one browser for all pages of a run. Its start counts as part of the run. */
export async function openShotScraper(executablePath: string): Promise<Contender> {
  const home = path.join(benchCache, 'shot-scraper')
  const python = path.join(home, 'bin/python3')
  if (!existsSync(path.join(home, 'bin/shot-scraper'))) {
    await run('python3', ['-m', 'venv', home])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `shot-scraper==${SHOT_SCRAPER}`])
  }
  const browsers = await pretendInstalled(home, python, executablePath)
  return {
    name: `shot-scraper ${SHOT_SCRAPER}`,
    lanes: [1],
    run: async (pages) => {
      const directory = await mkdtemp(path.join(tmpdir(), 'shot-scraper-'))
      const shots = pages.map((url, index) => ({ url, output: path.join(directory, `${index}.png`), ...VIEWPORT }))
      const list = path.join(directory, 'shots.yml')
      await writeFile(list, JSON.stringify(shots))
      const args = ['multi', '--silent', '--fail', ...FLAGS.flatMap((flag) => ['--browser-arg', flag]), list]
      const started = performance.now()
      await run(path.join(home, 'bin/shot-scraper'), args, { environment: { PLAYWRIGHT_BROWSERS_PATH: browsers } })
      const milliseconds = performance.now() - started
      const pictures = new Map<string, Buffer>()
      for (const { url, output } of shots) pictures.set(url, await readFile(output))
      await rm(directory, { recursive: true, force: true })
      return { milliseconds, pictures }
    },
    processorSeconds: endedProcessorSeconds,
    close: async () => {},
  }
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-checker-imaging',
  '--font-render-hinting=none',
  '--disable-font-subpixel-positioning',
]

const ASK_PATH = 'from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)'

/** Creates a link where the library expects its downloaded browser. Returns the directory. */
async function pretendInstalled(home: string, python: string, executablePath: string): Promise<string> {
  const browsers = path.join(home, 'browsers')
  const whole = (await run(python, ['-c', ASK_PATH], { environment: { PLAYWRIGHT_BROWSERS_PATH: browsers } })).trim()
  const [, revision, system] = /chromium-(\d+)\/chrome-(\w+)\/chrome$/.exec(whole) ?? []
  if (revision === undefined) throw new Error(`shot-scraper expects its browser at an unknown path: ${whole}`)
  const wanted = path.join(browsers, `chromium_headless_shell-${revision}`, `chrome-headless-shell-${system}`, 'chrome-headless-shell')
  await mkdir(path.dirname(wanted), { recursive: true })
  await rm(wanted, { force: true })
  await symlink(executablePath, wanted)
  return browsers
}
