/**
 * puppeteer-cluster as its README shows it: one context per page, page.screenshot(). It runs in the directory where the benchmark installed
 * it. Commands arrive on standard input, one JSON object per line.
 */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

/** A command: captures each page once, with the given concurrency. */
export interface PuppeteerOrder {
  pages: readonly string[]
  lanes: number
}

/** Duration, and the pictures in base64. */
export interface PuppeteerResult {
  totalMilliseconds: number
  pictures: Record<string, string>
}

/** The used part of the library's types, because it is not a dependency of this repository. */
interface Page {
  goto: (url: string, options: { waitUntil: 'load' }) => Promise<unknown>
  screenshot: () => Promise<Uint8Array>
}
interface Cluster {
  task: (act: (given: { page: Page; data: string }) => Promise<void>) => Promise<void>
  queue: (url: string) => void
  idle: () => Promise<void>
  close: () => Promise<void>
  on: (event: 'taskerror', listener: (error: Error) => void) => void
}
interface Library {
  Cluster: { launch: (options: object) => Promise<Cluster>; CONCURRENCY_CONTEXT: number }
}

const { PUPPETEER_MODULES = '', PUPPETEER_OPTIONS = '{}' } = process.env
const load = createRequire(PUPPETEER_MODULES)
const { Cluster } = load('puppeteer-cluster') as Library
const clusters = new Map<number, Cluster>()
const taken = new Map<string, Uint8Array>()
let failure: Error | undefined

async function open(lanes: number): Promise<Cluster> {
  const cluster = await Cluster.launch({
    puppeteer: load('puppeteer-core'),
    concurrency: Cluster.CONCURRENCY_CONTEXT,
    maxConcurrency: lanes,
    puppeteerOptions: JSON.parse(PUPPETEER_OPTIONS),
  })
  cluster.on('taskerror', (error) => {
    failure = error
  })
  await cluster.task(async ({ page, data }) => {
    await page.goto(data, { waitUntil: 'load' })
    taken.set(data, await page.screenshot())
  })
  clusters.set(lanes, cluster)
  return cluster
}

async function carryOut({ pages, lanes }: PuppeteerOrder): Promise<PuppeteerResult> {
  const cluster = clusters.get(lanes) ?? (await open(lanes))
  taken.clear()
  failure = undefined
  const started = performance.now()
  for (const page of pages) cluster.queue(page)
  await cluster.idle()
  const totalMilliseconds = performance.now() - started
  if (failure) throw failure
  return { totalMilliseconds, pictures: Object.fromEntries([...taken].map(([url, file]) => [url, Buffer.from(file).toString('base64')])) }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(line) as PuppeteerOrder).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
for (const cluster of clusters.values()) await cluster.close()
