import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../cluster/host/exec.ts'
import { servePages } from '../../integration/capture-runner/stage/page-server.ts'
import { openStudio } from '../../integration/capture-runner/stage/studio.ts'
import { createDirectory } from '../../support/directory.ts'
import { serve } from '../../support/servers/serve.ts'
import { readLoad } from '../harness/machine.ts'
import { scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { browserStage } from './stage/engine.ts'

const PROGRAM = path.join(import.meta.dirname, 'stage/compare-program.ts')

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

/** The first page of a height: the others are compared with it. */
const NOTHING = {}

/** What differs between the two pictures. */
const CHANGES: readonly { name: string; change: Parameters<typeof pageOf>[1] }[] = [
  { name: 'nothing', change: NOTHING },
  { name: 'one word', change: { word: 'cat' } },
  { name: 'colors of the whole page', change: { style: 'background:#223;color:#eee' } },
  { name: 'all text, by a row', change: { style: 'padding-top:1px' } },
]

/** One comparison, as the program prints it. */
interface Sample {
  milliseconds: number
  /** Milliseconds of processor time. */
  processor: number
  mebibytes: number
  changedRatio: number
}

/** Measures the time and the memory that a comparison adds to a capture. */
export const comparePictures = scenario({
  name: 'compare',
  shows: 'comparison of pictures of 1,080 and 25,000 rows, as a runner does it',
  stage: browserStage,
  options: { rounds: 5 },
  run: async ({ ends, settings: { rounds }, ...report }) => {
    const cases = HEIGHTS.flatMap((height) =>
      CHANGES.map(({ name, change }, index) => ({ height, name, change, path: `/${height}/${index}` })),
    )
    const site = await servePages(Object.fromEntries(cases.map(({ height, change, path }) => [path, pageOf(height, change)])))
    ends.teardown(site.close)
    const directory = await createDirectory(ends, 'compare')
    const studio = await openStudio()
    ends.teardown(studio.close)
    let earlier: Buffer = Buffer.alloc(0)
    const store = await serve(ends, (_, response) => response.end(earlier))
    const rows: { height: number; name: string; samples: Sample[]; load: number }[] = []
    for (const { height, name, change, path: page } of cases) {
      report.progress(`compare: 1920 × ${height}, ${name}`)
      const { picture } = await studio.shoot(site.url(page), { fullPage: true })
      if (change === NOTHING) earlier = picture
      const file = path.join(directory, 'after.png')
      await writeFile(file, picture)
      const samples = JSON.parse(await run(process.execPath, [PROGRAM, store, file, String(rounds)])) as Sample[]
      rows.push({ height, name, samples, load: readLoad() })
    }
    const targets = 'targets: 150 ms for 1920 × 1080; 3,000 ms and 300 MiB for 1920 × 25,000'
    report.table(
      tableOf(`Comparison with an earlier picture (${targets})`, rows, {
        picture: ({ height }) => `1920 × ${height}`,
        'what differs': ({ name }) => name,
        'changed pixels (%)': ({ samples }) => ((samples[0]?.changedRatio ?? 0) * 100).toFixed(3),
        'first (ms)': ({ samples }) => samples[0]?.milliseconds ?? Number.NaN,
        'median (ms)': ({ samples }) => median(samples.map(({ milliseconds }) => milliseconds)),
        'processor (ms)': ({ samples }) => median(samples.map(({ processor }) => processor)),
        'memory (MiB)': ({ samples }) => Math.max(...samples.map(({ mebibytes }) => mebibytes)),
        load: ({ load }) => load.toFixed(1),
      }),
    )
  },
})
