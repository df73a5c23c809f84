import type { Section } from '../report.ts'
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

/** Sections of the report: each picture next to the slow one, failed and changed ones first. */
export function buildSections(results: readonly Result[]): Section[] {
  const order = ['failed', 'changed', 'unknown', 'right']
  const sorted = results.toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome))
  return sorted.map((result) => ({
    title: writeLine(result),
    isWrong: result.outcome === 'failed' || result.outcome === 'changed',
    pictures: { runner: result.picture, 'Playwright, slowly': result.slowPicture },
  }))
}
