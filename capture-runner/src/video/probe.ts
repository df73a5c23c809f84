import { mkdir } from 'node:fs/promises'
import type { RunningBrowser } from '../browser/browser.ts'
import type { Secrets } from '../jail/wrapper.ts'
import { DEFAULT_CONTEXT } from '../plan/plan.ts'
import { bounded, pause } from '../runtime/race.ts'
import { clearDirectory, type Recorder } from './directory.ts'
import { probeFfmpeg } from './ffmpeg.ts'

const PROBE_MILLISECONDS = 30_000
const FRAME_MILLISECONDS = 16
const JPEG_QUALITY = 50
const SMALL = { viewport: { width: 64, height: 64 }, frameControl: 'video' } as const

/** What to test. */
export interface ProbeSettings {
  /** Starts a browser with the flags of runners that record. */
  launch: () => Promise<RunningBrowser>
  /** Path or name of ffmpeg. */
  program: string
  /** For the files of recordings. What is left from before is removed. */
  directory: string
  /** What ffmpeg must not read. */
  secrets: Secrets
}

/** Tests at start whether this runner can record videos. Never throws; a runner that cannot tells why. */
export async function probeRecorder({ launch, program, directory, secrets }: ProbeSettings): Promise<Recorder> {
  try {
    await mkdir(directory, { recursive: true })
    await clearDirectory(directory)
    const [{ command, detail }] = await Promise.all([probeFfmpeg(program, directory, secrets), drawFrame(launch)])
    return command ? { command, directory } : { unavailable: detail }
  } catch (error) {
    return { unavailable: (error as Error).message.split('\n', 1)[0] ?? '' }
  }
}

/** Draws one frame on command. @throws when the browser cannot */
async function drawFrame(launch: ProbeSettings['launch']): Promise<void> {
  using time = bounded(new AbortController().signal, PROBE_MILLISECONDS, () => new Error('the browser drew no frame in time'))
  const browser = await launch()
  try {
    const { frames, egress } = await browser.openTab({ ...DEFAULT_CONTEXT, ...SMALL })
    await frames?.stop(time.signal)
    // The first frames of a new tab may have no picture.
    while (!(await frames?.begin({ picture: { format: 'jpeg', quality: JPEG_QUALITY } }, time.signal))?.picture)
      await pause(FRAME_MILLISECONDS, time.signal)
    egress.close()
  } finally {
    browser.kill()
  }
}
