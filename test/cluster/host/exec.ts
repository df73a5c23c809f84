/** Runs programs and waits until they end. For long-lived programs see daemons.ts. */
import { type ChildProcess, spawn } from 'node:child_process'

/** A program failed. `output` contains the end of what it printed. */
export class CommandError extends Error {
  readonly output: string
  constructor(command: string, ending: string, output: string) {
    super(`${command} ${ending}${output ? `: ${lastLine(output)}` : ''}`)
    this.name = 'CommandError'
    this.output = output
  }
}

export interface RunOptions {
  directory?: string
  environment?: Record<string, string>
  /** Written to the program's standard input. */
  input?: string | Buffer
  timeoutMilliseconds?: number
  /** Called with each line of either stream, for progress. */
  onLine?: (line: string) => void
}

const running = new Set<ChildProcess>()

/** Ends all programs that `run` waits for, for example when the user interrupts. */
export function endRunning(): void {
  for (const child of running) child.kill('SIGTERM')
}

/** Runs a program and resolves to its standard output. @throws CommandError when it cannot be started, fails, or takes too long. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.directory,
      env: { ...process.env, ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMilliseconds,
    })
    running.add(child)
    let output = ''
    let everything = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      everything = keepTail(everything + text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      everything = keepTail(everything + text)
    })
    if (options.onLine) for (const stream of [child.stdout, child.stderr]) forEachLine(stream, options.onLine)
    child.on('error', (cause) => reject(new CommandError(command, `did not start (${cause.message})`, '')))
    child.on('close', (code, signal) => {
      running.delete(child)
      if (code === 0) return resolve(output)
      reject(new CommandError(nameOf(command, args), signal ? `was killed by ${signal}` : `exited with code ${code}`, everything))
    })
    child.stdin.on('error', () => {}) // a program that does not read its input closes it early; only its exit code matters
    child.stdin.end(options.input ?? '')
  })
}

/** True when a program exits with 0. Its output is ignored. */
export async function succeeds(command: string, args: readonly string[], options: RunOptions = {}): Promise<boolean> {
  try {
    await run(command, args, options)
    return true
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}

function forEachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}

const keepTail = (text: string): string => (text.length > 64_000 ? text.slice(-32_000) : text)
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(0, 300) ?? ''
const nameOf = (command: string, args: readonly string[]): string =>
  [command, args[0]].filter((word) => word && !word.startsWith('-')).join(' ')
