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

const NOT_OK = /^( *)not ok \d+ - (.*)$/
const MAX_LINES = 30

/** The failures of a TAP stream, each with the diagnosis that follows it; the tests around a failed assertion come after it. */
export function readFailures(tap: string): string[] {
  const lines = tap.split('\n')
  return lines.flatMap((line, at) => {
    const [, indent = '', name] = NOT_OK.exec(line) ?? []
    if (name === undefined) return []
    const end = lines.indexOf(`${indent}  ...`, at)
    const diagnosis = lines[at + 1] === `${indent}  ---` && end > at ? lines.slice(at + 2, Math.min(end, at + 2 + MAX_LINES)) : []
    return [[`not ok - ${name}`, ...diagnosis.map((text) => text.slice(indent.length))].join('\n')]
  })
}
