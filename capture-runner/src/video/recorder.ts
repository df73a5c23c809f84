import { setTimeout as sleep } from 'node:timers/promises'
import { ExactClock } from '../browser/frame-clock.ts'
import type { FrameTime } from '../browser/frame-control.ts'
import type { Tab } from '../browser/tab.ts'
import { callInPage } from '../page/call.ts'
import { CaptureError } from '../runtime/errors.ts'
import { bounded } from '../runtime/race.ts'
import type { Encoder } from './encoder.ts'

// Records the frames of a tab: `exact` advances the page's time from frame to frame, and `real` lets it run.

/** What to record. */
export interface Recording {
  frames: number
  fps: number
  /** Quality of the JPEGs between browser and encoder, 0 to 100. */
  jpegQuality: number
  /** Called before each frame with its time, in milliseconds since the first frame. */
  beforeFrame?: ((milliseconds: number) => Promise<void>) | undefined
}

/** What came of it. */
export interface Recorded {
  /** JPEG of the first frame. */
  first: Buffer
  /** Frames that show the same as the frame before them, because the browser was late. */
  repeated: number
  /** A video with a sound track played meanwhile. */
  hadSound: boolean
}

/** Real time in which a frame must be drawn. Usually 50 ms. */
const FRAME_MILLISECONDS = 15_000
/** Frames between two checks for sound. */
const SOUND_EVERY = 10

type FramedTab = Pick<Tab, 'session' | 'foreignFrames' | 'evaluate' | 'frames'>

/** Records frame by frame; the page's time stands still while a frame is drawn. @throws CaptureError TIMEOUT; the signal's reason */
export async function recordExactly(tab: FramedTab, recording: Recording, encoder: Encoder, signal: AbortSignal): Promise<Recorded> {
  await framesOf(tab).stop(signal)
  const { clock, ticks } = await ExactClock.stop(tab, signal)
  const interval = 1_000 / recording.fps
  const frames = new FrameSequence(encoder, 1)
  let hasSound = false
  let hadSound = false
  for (let number = 0; number < recording.frames; number++) {
    using time = boundedFrame(number, signal)
    if (number % SOUND_EVERY === 0) hasSound = await hasPlayingSound(tab, time.signal)
    hadSound ||= hasSound
    await recording.beforeFrame?.(number * interval)
    await clock.advance(interval, hasSound, time.signal)
    const frameTime = { ticks: ticks + (number + 1) * interval, interval }
    await frames.add(await draw(tab, frameTime, recording, time.signal), time.signal)
  }
  await frames.end()
  return { first: frames.first, repeated: 0, hadSound }
}

/**
 * Records in real time. When the browser is late, the last picture is repeated, so that each frame is shown at its time.
 * @throws CaptureError TIMEOUT; the signal's reason
 */
export async function recordReally(tab: FramedTab, recording: Recording, encoder: Encoder, signal: AbortSignal): Promise<Recorded> {
  await framesOf(tab).stop(signal)
  const interval = 1_000 / recording.fps
  const frames = new FrameSequence(encoder, MAX_WAITING)
  let repeated = 0
  let start: number | undefined
  let ticks = 0
  for (let number = 0; number < recording.frames; number++) {
    const now = performance.now()
    if (start === undefined) [start, ticks] = [now, monotonicMilliseconds()]
    const due = start + number * interval
    if (frames.length > 0 && now >= due + interval) {
      // Its time is over. The next picture belongs to a later frame.
      await frames.repeat(signal)
      repeated++
      continue
    }
    if (now < due) await sleep(due - now, undefined, { signal })
    using time = boundedFrame(number, signal)
    await recording.beforeFrame?.(number * interval)
    await frames.add(await draw(tab, { ticks: ticks + number * interval, interval }, recording, time.signal), time.signal)
  }
  await frames.end()
  return { first: frames.first, repeated, hadSound: false }
}

/** The clock of the browser's frames. */
const monotonicMilliseconds = (): number => Number(process.hrtime.bigint()) / 1e6

function framesOf({ frames }: FramedTab): NonNullable<Tab['frames']> {
  if (!frames) throw new Error('the plan did not ask for frame control')
  return frames
}

/** Draws one frame and returns it as JPEG; undefined if the frame had no picture. */
async function draw(
  tab: FramedTab,
  time: FrameTime,
  { jpegQuality: quality }: Recording,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const { picture } = await framesOf(tab).begin({ time, picture: { format: 'jpeg', quality, optimizeForSpeed: true } }, signal)
  return picture
}

const boundedFrame = (number: number, signal: AbortSignal) =>
  bounded(
    signal,
    FRAME_MILLISECONDS,
    () => new CaptureError('TIMEOUT', `the page did not draw frame ${number + 1} of the video within ${FRAME_MILLISECONDS} ms`),
  )

/** Frames that may wait for the encoder while pictures are taken in real time. Repeated pictures share their memory. */
const MAX_WAITING = 60

/** Passes frames on to the encoder. A frame without a picture, as while the page navigates, repeats the last one. */
class FrameSequence {
  readonly #encoder: Encoder
  readonly #maxWaiting: number
  /** Frames at the beginning without a picture. */
  #missing = 0
  #first: Buffer | undefined
  #last: Buffer | undefined
  length = 0
  readonly #waiting: Promise<void>[] = []

  /** @param maxWaiting frames that may wait for the encoder */
  constructor(encoder: Encoder, maxWaiting: number) {
    this.#encoder = encoder
    this.#maxWaiting = maxWaiting
  }

  /** @throws CaptureError if no frame had a picture */
  get first(): Buffer {
    if (!this.#first) throw new CaptureError('TIMEOUT', 'the page drew nothing while the video was recorded')
    return this.#first
  }

  async add(jpeg: Buffer | undefined, signal: AbortSignal): Promise<void> {
    const picture = jpeg ?? this.#last
    if (!picture) {
      this.#missing++
      return
    }
    this.#first ??= picture
    this.#last = picture
    // The first picture also stands for the frames before it.
    for (; this.#missing > 0; this.#missing--) await this.#pass(picture, signal)
    await this.#pass(picture, signal)
  }

  async repeat(signal: AbortSignal): Promise<void> {
    if (this.#last) await this.#pass(this.#last, signal)
  }

  /** Waits only for the frame that is {@link MAX_WAITING} frames older. */
  async #pass(picture: Buffer, signal: AbortSignal): Promise<void> {
    this.length++
    const passed = (this.#waiting.at(-1) ?? Promise.resolve()).then(() => this.#encoder.add(picture, signal))
    passed.catch(() => {})
    this.#waiting.push(passed)
    if (this.#waiting.length > this.#maxWaiting) await this.#waiting.shift()
  }

  /** Waits until the encoder has every frame. */
  async end(): Promise<void> {
    await Promise.all(this.#waiting)
  }
}

/** Whether a video with a sound track is playing in the main frame or in frames of its process. */
const hasPlayingSound = (tab: Pick<Tab, 'evaluate'>, signal: AbortSignal): Promise<boolean> =>
  callInPage({ tab, signal }, 'hasPlayingSound')
