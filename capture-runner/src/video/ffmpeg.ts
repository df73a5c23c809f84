import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { landlockWrapper, mountWrapper, type Secrets, type Wrapper } from '../jail/wrapper.ts'
import { CaptureError } from '../runtime/errors.ts'
import { abortable } from '../runtime/race.ts'

// Runs ffmpeg as a child process with limits on memory, processor time and file size, without network and the pod's tokens, and behind the browser in
// priority.

/** How ffmpeg is started on this node. */
export interface FfmpegCommand {
  /** Path or name of the program. */
  program: string
  /** Whether `unshare` can take the network away from it. */
  isUnshared: boolean
  /** Hides the pod's tokens from it; absent: the node allows no way to do so. */
  wrapper?: Wrapper
}

/** Limits of one process. */
export interface FfmpegLimits {
  /** Largest file that it may write, in bytes. */
  fileBytes: number
  /** Processor time in seconds. */
  cpuSeconds: number
}

/** Address space of the process. Two threads of VP9 at 3840 × 2160 need about half of it. */
const MEMORY_BYTES = 2 * 1024 ** 3
const ERROR_LENGTH = 2_000
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }
/** Signal of a process that wrote more than its limit, and the exit code if ffmpeg reports the failed write itself. */
const FILE_SIZE_SIGNAL = 'SIGXFSZ'
const FILE_SIZE_CODE = 128 + 25

type Ending = [code: number | null, signal: NodeJS.Signals | null]

/** A running ffmpeg. */
export class Ffmpeg {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ending>
  readonly #limits: FfmpegLimits
  #errors = ''

  /** @param directory its working directory */
  constructor(command: FfmpegCommand, args: readonly string[], directory: string, limits: FfmpegLimits) {
    const { fileBytes, cpuSeconds } = limits
    const bounds = [`--as=${MEMORY_BYTES}`, `--cpu=${cpuSeconds}:${cpuSeconds + 1}`, `--fsize=${fileBytes}`, '--core=0']
    const { words, env } = toWords(command)
    this.#limits = limits
    this.#child = spawn('nice', ['-n', '5', 'prlimit', ...bounds, '--', ...words, ...args], {
      cwd: directory,
      env,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString('latin1')).slice(-ERROR_LENGTH)
    })
    // A process that has ended closes its stdin. The exit code tells why.
    this.#child.stdin?.on('error', () => {})
    this.#ended = once(this.#child, 'close') as Promise<Ending>
    this.#ended.catch(() => {})
  }

  /** Writes to its stdin. Waits while the process has not read what came before. @throws CaptureError if the process has ended; the signal's reason */
  async write(bytes: Buffer, signal: AbortSignal): Promise<void> {
    const { stdin } = this.#child
    if (!stdin || stdin.destroyed) return this.#explain(await this.#ended)
    if (stdin.write(bytes)) return
    // A broken pipe comes before the end of the process, which tells why.
    const read = once(stdin, 'drain', { signal }).then(
      () => undefined,
      () => this.#ended,
    )
    // An abort may leave it without a handler.
    read.catch(() => {})
    const early = await abortable(Promise.race([read, this.#ended]), signal)
    if (early) this.#explain(early)
  }

  /** Ends its stdin and waits for the process. @throws CaptureError if it failed; the signal's reason */
  async end(signal: AbortSignal): Promise<void> {
    this.#child.stdin?.end()
    this.#explain(await abortable(this.#ended, signal))
  }

  /** Kills the process if it runs. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #explain([code, signal]: Ending): void {
    if (code === 0) return
    const cause = new Error(`ffmpeg ended with ${signal ?? code}: ${this.#errors.trim()}`)
    if (signal === FILE_SIZE_SIGNAL || code === FILE_SIZE_CODE || /File too large/.test(this.#errors)) {
      throw tooLarge(this.#limits.fileBytes, cause)
    }
    if (/No space left on device/.test(this.#errors)) throw diskFull(cause)
    if (signal === 'SIGXCPU') {
      throw new CaptureError('TOO_LARGE', `the video needs more than ${this.#limits.cpuSeconds} s of processor time. ${SMALLER}`, { cause })
    }
    throw new CaptureError('INTERNAL_ERROR', 'the video could not be encoded', { cause })
  }
}

/** What makes a video smaller. */
export const SMALLER = 'Lower video_duration, video_fps, video_quality, video_width or the size of the window.'

/** The error of a video above the limit of its file. */
export const tooLarge = (maxBytes: number, cause?: unknown): CaptureError =>
  new CaptureError('TOO_LARGE', `the video has more than ${maxBytes} bytes, which is the limit. ${SMALLER}`, { cause })

/** The error of a full disk. Another pod may have more space. */
export const diskFull = (cause: unknown): CaptureError =>
  new CaptureError('INTERNAL_ERROR', 'the runner has no space left for the video', { cause })

const UNSHARE = ['unshare', '--user', '--net', '--']

/** The words of a command, and its environment: nothing of the runner's, and nothing that changes the behavior of ffmpeg. */
function toWords({ program, isUnshared, wrapper }: FfmpegCommand): { words: string[]; env: Record<string, string> } {
  const { executablePath, env } = wrapper?.command(program) ?? { executablePath: program, env: {} }
  return { words: [...(isUnshared ? UNSHARE : []), executablePath], env: { ...ENVIRONMENT, ...env } }
}

/** The ways to start ffmpeg, from the most restricted to one that every node allows. */
const waysOf = (program: string, secrets: Secrets): FfmpegCommand[] => [
  { program, isUnshared: true, wrapper: landlockWrapper(secrets) },
  // Takes the network away by itself.
  { program, isUnshared: false, wrapper: mountWrapper(secrets) },
  { program, isUnshared: false, wrapper: landlockWrapper(secrets) },
  { program, isUnshared: true },
  { program, isUnshared: false },
]

/** Tests how ffmpeg can be started here, and that it has the codecs for videos. Never throws; without `command`, `detail` says why. */
export async function probeFfmpeg(
  program: string,
  directory: string,
  secrets: Secrets,
): Promise<{ command?: FfmpegCommand; detail: string }> {
  let output = ''
  for (const command of waysOf(program, secrets)) {
    const listed = await runOnce(command, ['-hide_banner', '-encoders'], directory)
    output = listed.output
    if (!listed.isOk || (command.wrapper && (await readsSecret(command, secrets, directory)))) continue
    const missing = NEEDED_ENCODERS.filter((name) => !output.includes(` ${name} `))
    return missing.length > 0 ? { detail: `ffmpeg lacks these encoders: ${missing.join(', ')}` } : { command, detail: '' }
  }
  return { detail: `ffmpeg does not run: ${output}` }
}

const NEEDED_ENCODERS = ['libx264', 'libvpx-vp9', 'gif']
const PROBE_MILLISECONDS = 20_000

/** Whether a program in the place of ffmpeg can read one of the secrets. */
async function readsSecret(command: FfmpegCommand, { secretFiles }: Secrets, directory: string): Promise<boolean> {
  const attempts = await Promise.all(secretFiles.map((file) => runOnce({ ...command, program: 'cat' }, [file], directory)))
  return attempts.some(({ isOk }) => isOk)
}

async function runOnce(command: FfmpegCommand, args: readonly string[], directory: string): Promise<{ isOk: boolean; output: string }> {
  const { words, env } = toWords(command)
  const [first = '', ...rest] = words
  const child = spawn(first, [...rest, ...args], {
    cwd: path.resolve(directory),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROBE_MILLISECONDS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1')
    })
  }
  try {
    const [code] = await once(child, 'close')
    return { isOk: code === 0, output: code === 0 ? output : (output.trim().split('\n').at(-1) ?? '') }
  } catch (error) {
    return { isOk: false, output: (error as Error).message }
  }
}
