import { mkdtemp, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { MAX_DETAIL_LENGTH, type VideoReport } from '@tintype/crds/dispatch/dispatch'
import type { StoredFile } from '../runtime/content.ts'
import { CaptureError } from '../runtime/errors.ts'
import type { FfmpegCommand } from './ffmpeg.ts'

/** Where and how a runner records, or why it cannot. */
export type Recorder = { command: FfmpegCommand; directory: string } | { unavailable: string }

/** What the operator learns of it; undefined if the runner was not started for videos. */
export const toVideoReport = (recorder: Recorder | undefined): VideoReport | undefined =>
  recorder &&
  ('unavailable' in recorder
    ? { available: false, detail: recorder.unavailable.slice(0, MAX_DETAIL_LENGTH) }
    : { available: true, detail: '' })

const PREFIX = 'video-'

/**
 * Creates an empty directory for one video, which is removed at the end; undefined for a screenshot.
 * @throws CaptureError VIDEO_UNAVAILABLE
 */
export async function openRecorder(
  { video }: { video?: unknown },
  { recorder }: { recorder?: Recorder | undefined },
  maxBytes: number,
): Promise<(RecorderParts & AsyncDisposable) | undefined> {
  if (!video) return undefined
  if (!recorder) throw new CaptureError('VIDEO_UNAVAILABLE', 'the pool of this capture does not record videos')
  if ('unavailable' in recorder) throw new CaptureError('VIDEO_UNAVAILABLE', `the runner cannot record videos: ${recorder.unavailable}`)
  const directory = await mkdtemp(path.join(recorder.directory, PREFIX))
  return {
    command: recorder.command,
    directory,
    maxBytes,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Removes what a runner that was killed has left. */
export async function clearDirectory(directory: string): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(PREFIX))
  await Promise.all(left.map((name) => rm(path.join(directory, name), { recursive: true, force: true })))
}

/** What a recording needs from the runner. */
export interface RecorderParts {
  command: FfmpegCommand
  /** An empty directory of this capture, which the caller removes. */
  directory: string
  /** Limit of the video, in bytes. */
  maxBytes: number
}

/** A recorded video. */
export interface RecordedVideo extends StoredFile {
  /** Pixels. */
  width: number
  height: number
  frames: number
  fps: number
}
