import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { servePages } from '../../integration/capture-runner/stage/page-server.ts'
import { openStudio } from '../../integration/capture-runner/stage/studio.ts'
import { median } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import type { Settings } from '../settings.ts'

const run = promisify(execFile)
const PROGRAM = path.join(import.meta.dirname, 'program.ts')
const MAX_OUTPUT = 1024 * 1024

const HEIGHTS = [1_080, 25_000]
const WORDS = 'The quick brown fox jumps over the lazy dog and sleeps under an old oak tree until the sun comes up'.split(' ')

/** A page of text with a gradient on every screen. */
function pageOf(height: number, { word = 'fox', style = '' } = {}): string {
  const paragraph = (n: number): string => Array.from({ length: 120 }, (_, i) => WORDS[(i * 7 + n) % WORDS.length]).join(' ')
  const sections = Array.from(
    { length: Math.ceil(height / 540) },
    (_, n) =>
      `<section style="height:500px;padding:20px 200px;font:18px/1.5 serif"><h2>Section ${n}</h2><p>${paragraph(n)}</p><div style="height:160px;background:linear-gradient(${n * 30}deg,#036,#fc9)"></div></section>`,
  )
  return `<!doctype html><title>A page</title><body style="margin:0;height:${height}px;overflow:hidden;${style}"><h1>${word}</h1>${sections.join('')}</body>`
}

/** What differs between the two pictures. */
const CHANGES: readonly { name: string; change: Parameters<typeof pageOf>[1] }[] = [
  { name: 'nothing', change: {} },
  { name: 'one word', change: { word: 'cat' } },
  { name: 'colors of the whole page', change: { style: 'background:#223;color:#eee' } },
  { name: 'all text, by a row', change: { style: 'padding-top:1px' } },
]

interface Sample {
  milliseconds: number
  /** Milliseconds of processor time. */
  processor: number
  mebibytes: number
  changedRatio: number
}

/** Measures the time and the memory that a comparison adds to a capture. Needs no cluster. */
export async function measureCompare({ rounds }: Pick<Settings, 'rounds'>, progress: (line: string) => void): Promise<Table> {
  const pages = Object.fromEntries(
    HEIGHTS.flatMap((height) => CHANGES.map(({ change }, index): [string, string] => [`/${height}/${index}`, pageOf(height, change)])),
  )
  const [studio, site, directory] = await Promise.all([openStudio(), servePages(pages), mkdtemp(path.join(tmpdir(), 'bench-compare-'))])
  const files = new Map<string, Buffer>()
  const store = createServer((request, response) => response.end(files.get(request.url ?? '')))
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  const { port } = store.address() as AddressInfo
  const rows: string[][] = []
  try {
    for (const height of HEIGHTS) {
      for (const [index, { name }] of CHANGES.entries()) {
        progress(`compare: 1920 × ${height}, ${name}`)
        const { picture } = await studio.shoot(site.url(`/${height}/${index}`), { fullPage: true })
        const key = `/${height}`
        if (index === 0) files.set(key, picture)
        const file = path.join(directory, 'after.png')
        await writeFile(file, picture)
        const args = [PROGRAM, `http://127.0.0.1:${port}${key}`, file, String(rounds)]
        const { stdout } = await run(process.execPath, args, { maxBuffer: MAX_OUTPUT })
        rows.push(toRow(height, name, JSON.parse(stdout)))
      }
    }
  } finally {
    store.close()
    await Promise.all([studio.close(), site.close(), rm(directory, { recursive: true, force: true })])
  }
  return {
    title: 'Comparison with an earlier picture (targets: 150 ms for 1920 × 1080; 3,000 ms and 300 MiB for 1920 × 25,000)',
    head: ['picture', 'what differs', 'changed pixels (%)', 'first (ms)', 'median (ms)', 'processor (ms)', 'memory (MiB)', 'load'],
    rows,
  }
}

function toRow(height: number, name: string, samples: readonly Sample[]): string[] {
  const [first] = samples
  return [
    `1920 × ${height}`,
    name,
    ((first?.changedRatio ?? 0) * 100).toFixed(3),
    toCell(first?.milliseconds ?? Number.NaN),
    toCell(median(samples.map(({ milliseconds }) => milliseconds))),
    toCell(median(samples.map(({ processor }) => processor))),
    Math.max(...samples.map(({ mebibytes }) => mebibytes)).toFixed(0),
    (loadavg()[0] ?? 0).toFixed(1),
  ]
}
