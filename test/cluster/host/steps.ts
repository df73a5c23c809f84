/**
 * Runs named steps one after another and prints one line per step with its duration. On a terminal the line of the running step is updated.
 * In a pipe or a log a long step prints a line every half minute.
 */
import { CommandError } from './exec.ts'

/** Shows the progress of a running step beside its name. */
export type Report = (text: string) => void

export interface Step {
  name: string
  /** Resolves to a short text shown beside the name, such as `already up`. */
  run: (report: Report) => Promise<string | undefined>
}

/** A failed step, with a remedy for the reader. */
export class StepError extends Error {
  readonly remedy: string
  readonly log: string | undefined
  constructor(message: string, { remedy, log, cause }: { remedy: string; log?: string; cause?: unknown }) {
    super(message, { cause })
    this.name = 'StepError'
    this.remedy = remedy
    this.log = log
  }
}

export interface Screen {
  write: (text: string) => void
  isTerminal: boolean
  columns: number
}

const heartbeatMilliseconds = 30_000

/** Columns before the time. */
const narrowestText = 20
const widestText = 96

/** The standard output as it is. */
const standardScreen: Screen = {
  write: (text) => process.stdout.write(text),
  isTerminal: process.stdout.isTTY === true && process.env.TERM !== 'dumb',
  columns: process.stdout.columns || 120, // 0 on a terminal of unknown size
}

/** Runs the steps in order. @throws the error of a step, after its line says `failed` */
export async function runSteps(steps: readonly Step[], screen: Screen = standardScreen): Promise<void> {
  for (const [index, step] of steps.entries())
    await runStep(step, `[${String(index + 1).padStart(String(steps.length).length)}/${steps.length}]`, screen)
}

/** `[ 3/14] API server                          already up     0.1 s`, cut to the width of the screen. */
function formatLine(counter: string, name: string, detail: string, milliseconds: number, columns = 120): string {
  const time = formatDuration(milliseconds).padStart(12)
  const room = Math.min(widestText, Math.max(narrowestText, columns - time.length - 1))
  const text = `${counter} ${name.padEnd(26)} ${detail}`
  return `${text.length > room ? `${text.slice(0, room - 1)}…` : text.padEnd(room)}${time}`
}

/** `1.2 s` below a minute, `2 min 05 s` above. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}

/** The message for a failed step: the cause, the remedy and the path of the log. */
export function formatFailure(error: unknown): string {
  const lines = [`✗ ${messageOf(error)}`]
  for (const cause of causesOf(error)) lines.push(`  Cause: ${cause}`)
  const output = findOutput(error)
  if (output)
    lines.push(
      ...output
        .trimEnd()
        .split('\n')
        .slice(-12)
        .map((line) => `  │ ${line}`),
    )
  if (error instanceof StepError) lines.push(`  What to do: ${error.remedy}`)
  if (error instanceof StepError && error.log) lines.push(`  Log: ${error.log}`)
  return lines.join('\n')
}

async function runStep(step: Step, counter: string, screen: Screen): Promise<void> {
  const start = performance.now()
  let detail = ''
  let lastBeat = start
  const show = (text: string, end: string) => {
    const line = formatLine(counter, step.name, text, performance.now() - start, screen.columns)
    screen.write(`${screen.isTerminal ? '\r\u001b[2K' : ''}${line}${end}`)
  }
  const beat = () => {
    if (screen.isTerminal) return show(detail || '…', '')
    if (performance.now() - lastBeat < heartbeatMilliseconds) return
    lastBeat = performance.now()
    show(`${detail} …`.trim(), '\n')
  }
  if (screen.isTerminal) show('…', '')
  const timer = setInterval(beat, screen.isTerminal ? 200 : 1_000)
  try {
    const result = await step.run((text) => {
      detail = text
    })
    show(result ?? '', '\n')
  } catch (error) {
    show('failed', '\n')
    throw error
  } finally {
    clearInterval(timer)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function causesOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.cause === undefined) return []
  return [messageOf(error.cause), ...causesOf(error.cause)]
}

/** Output of the program that is the last in the chain of causes. */
function findOutput(error: unknown): string | undefined {
  if (error instanceof CommandError) return error.output
  return error instanceof Error && error.cause !== undefined ? findOutput(error.cause) : undefined
}
