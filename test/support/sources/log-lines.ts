import { type Logger, pino } from 'pino'
import { parseDocument } from 'yaml'

/** One line of a program's log. */
export interface LogLine {
  level: number
  msg: string
  [name: string]: unknown
}

/**
 * Parses the JSON lines of a log as a strict collector does. JSON.parse silently takes the last of two equal keys. A YAML parser rejects
 * duplicates, and JSON is YAML.
 * @throws with the line that contains a key twice
 */
export function parseLogLines(text: string): LogLine[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  for (const line of lines) {
    const { errors } = parseDocument(line, { uniqueKeys: true, prettyErrors: false })
    const duplicate = errors.find(({ code }) => code === 'DUPLICATE_KEY')
    if (duplicate) throw new Error(`a log line has a key twice, at ${duplicate.pos[0]}: ${line}`)
  }
  return lines.map((line) => JSON.parse(line) as LogLine)
}

/** A logger like a program's, and its output. @param base fields of each line */
export function recordLog(base: Record<string, string> = {}): { log: Logger; text: () => string } {
  const lines: string[] = []
  const log = pino({ level: 'debug', base }, { write: (line: string) => lines.push(line) })
  return { log, text: () => lines.join('') }
}
