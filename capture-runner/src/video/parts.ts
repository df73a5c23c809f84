import type { StoredFile } from '../runtime/content.ts'
import type { FfmpegCommand } from './ffmpeg.ts'

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
