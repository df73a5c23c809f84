import { escapeHtml } from '../../sites/src/handler.ts'
import type { Comparison } from './compare.ts'
import type { Kind } from './page.ts'
import type { Mode } from './slow.ts'

/** Result of one capture. */
export interface Result {
  name: string
  kind: Kind
  mode: Mode
  /** `unknown`: no reference has been approved yet. */
  outcome: 'right' | 'changed' | 'unknown' | 'failed'
  milliseconds: number
  /** Absent without a reference or a picture. */
  comparison?: Comparison
  /** Warnings or the reason of the failure. */
  notes: readonly string[]
  /** Files in the directory of the report. Absent if not captured. */
  picture?: string
  slowPicture?: string
}

const OUTCOMES = ['right', 'changed', 'unknown', 'failed'] as const

/** One line for the terminal, such as `changed  full    aos  12 of 80 blocks`. */
export const writeLine = (result: Result): string =>
  [result.outcome.padEnd(8), result.mode.padEnd(7), result.name.padEnd(24), `${result.milliseconds} ms`.padStart(9), sayChange(result)]
    .join(' ')
    .trimEnd()

const sayChange = ({ comparison, notes }: Result): string =>
  [comparison && comparison.changed > 0 ? `${comparison.changed} of ${comparison.blocks} blocks` : '', ...notes].filter(Boolean).join('; ')

/** Counts by kind and mode, for the terminal and for docs. */
export function writeTable(results: readonly Result[]): string {
  const head = `| kind | mode | pages | ${OUTCOMES.join(' | ')} |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |`
  const groups = Map.groupBy(results, ({ kind, mode }) => `${kind} | ${mode}`)
  const rows = [...groups, ...Map.groupBy(results, ({ mode }) => `**all** | ${mode}`)].map(
    ([title, of]) =>
      `| ${title} | ${of.length} | ${OUTCOMES.map((outcome) => of.filter((result) => result.outcome === outcome).length).join(' | ')} |`,
  )
  return [head, ...rows].join('\n')
}

const STYLE = `body{font:14px/1.4 Arial,sans-serif;margin:24px;background:#f4f4f0} section{display:grid;grid-template-columns:1fr 1fr;gap:12px;margin:24px 0}
h2{grid-column:1/-1;margin:0;font-size:16px} figure{margin:0;background:#fff;border:1px solid #ccc} img{width:100%;display:block} .changed h2,.failed h2{color:#a00} figcaption{padding:4px 8px}`

/** Writes the report as HTML: each picture next to the slow one, changed ones first. */
export function buildReport(results: readonly Result[]): string {
  const order = ['failed', 'changed', 'unknown', 'right']
  const sorted = results.toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome))
  const figure = (file: string | undefined, caption: string) =>
    file === undefined ? '' : `<figure><figcaption>${caption}</figcaption><a href="${file}"><img loading="lazy" src="${file}"></a></figure>`
  const sections = sorted.map(
    (result) =>
      `<section class="${result.outcome}"><h2>${escapeHtml(writeLine(result))}</h2>${figure(result.picture, 'runner')}${figure(result.slowPicture, 'Playwright, slowly')}</section>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Corpus</title><style>${STYLE}</style><h1>${results.length} captures</h1>${sections.join('\n')}</html>\n`
}
