import { CAUSES, type Cause, type FileTimes, sumOf } from './process-times.ts'

const HEADINGS = ['file', 'wall', 'waiting', 'processor', ...CAUSES]
const toRow = (name: string, wall: number, waiting: number, used: Record<Cause, number>): string =>
  `| ${[name, ...[wall, waiting, sumOf(used), ...CAUSES.map((cause) => used[cause])].map((seconds) => seconds.toFixed(1))].join(' | ')} |`

/** Markdown tables in seconds: the sums of each stage, then each file, the one with the most processor time first. */
export function describeTimes(times: readonly FileTimes[]): { summary: string; whole: string } {
  const heading = [`| ${HEADINGS.join(' | ')} |`, `|${HEADINGS.map((_, at) => (at === 0 ? '---|' : '---:|')).join('')}`]
  const stages = [...new Set(times.map(({ stage }) => stage))]
  const sums = stages.map((stage) => toRow(stage, ...sumUp(times.filter((each) => each.stage === stage))))
  const sorted = [...times].sort((a, b) => sumOf(b.used) - sumOf(a.used))
  const rows = sorted.map(({ stage, file, wall, waiting, used }) => toRow(file || `${stage}: besides its files`, wall, waiting, used))
  const summary = [...heading, ...sums].join('\n')
  return { summary, whole: `${summary}\n\n${[...heading, ...rows].join('\n')}\n` }
}

function sumUp(times: readonly FileTimes[]): [number, number, Record<Cause, number>] {
  const add = (pick: (each: FileTimes) => number) => times.reduce((sum, each) => sum + pick(each), 0)
  const used = Object.fromEntries(CAUSES.map((cause) => [cause, add((each) => each.used[cause])])) as Record<Cause, number>
  return [add(({ wall }) => wall), add(({ waiting }) => waiting), used]
}
