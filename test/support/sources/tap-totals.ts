export interface Totals {
  passed: number
  failed: number
}

const TOTALS = /^# \{([^}]*)\}$/gm
const field = (text: string, name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(text)?.[1] ?? 0)

/**
 * Reads the totals that tap prints at the end of a TAP stream: `# { total: 3, pass: 2, fail: 1 }`.
 * @throws when there are none or no test ran, because a run without tests proves nothing
 */
export function readTotals(tap: string): Totals {
  const last = [...tap.matchAll(TOTALS)].at(-1)?.[1]
  if (last === undefined || field(last, 'total') === 0) throw new Error('tap ran no test')
  return { passed: field(last, 'pass'), failed: field(last, 'total') - field(last, 'pass') - field(last, 'skip') - field(last, 'todo') }
}

const FILE = /^# Subtest: (.*)$/
const NOT_OK = /^( *)not ok \d+ - (.*)$/
const MAX_LINES = 30

/** The failures of a TAP stream, each with its file and its diagnostics. The enclosing tests follow a failed assertion. */
export function readFailures(tap: string): string[] {
  const lines = tap.split('\n')
  let file = ''
  return lines.flatMap((line, at) => {
    file = FILE.exec(line)?.[1] ?? file
    const [, indent = '', name] = NOT_OK.exec(line) ?? []
    if (name === undefined) return []
    const end = lines.indexOf(`${indent}  ...`, at)
    const diagnosis = lines[at + 1] === `${indent}  ---` && end > at ? lines.slice(at + 2, Math.min(end, at + 2 + MAX_LINES)) : []
    const place = indent === '' ? '' : ` (${file})`
    return [[`not ok - ${name}${place}`, ...diagnosis.map((text) => text.slice(indent.length))].join('\n')]
  })
}

const FILE_END = /^(?:not )?ok \d+ - (\S+) # time=([\d.]+)(ms|s)?$/gm

/** Duration of each file of a TAP stream, slowest first. */
export function readDurations(tap: string): { file: string; seconds: number }[] {
  return [...tap.matchAll(FILE_END)]
    .map(([, file = '', time, unit]) => ({ file, seconds: Number(time) / (unit === 'ms' ? 1_000 : 1) }))
    .sort((a, b) => b.seconds - a.seconds)
}

const EMPTY_FILE = /^# Subtest: (\S+)\n {4}1\.\.0\b/gm
const ONLY = / {4}# (".*") has `only` set but all tests run$/gm

/** What is wrong with test files although no test failed: a file without a test, or with an `only` that would hide its other tests. */
export const readFileFaults = (tap: string): string[] => [
  ...[...tap.matchAll(EMPTY_FILE)].map(([, file]) => `${file} has no test`),
  ...[...tap.matchAll(ONLY)].map(([, name]) => `the test ${name} has \`only\` set`),
]

const FAILED_FILE = /^not ok \d+ - (\S+\.ts)\b/gm

/** The failed files of a TAP stream. */
export const readFailedFiles = (tap: string): string[] => [...tap.matchAll(FAILED_FILE)].map(([, file = '']) => file)
