import type { components } from '../../../client/src/generated/api.ts'

// Screenshots and videos have the same records and requests at different paths.

export type Screenshot = components['schemas']['Screenshot']
export type Video = components['schemas']['Video']

/** A record of either kind. */
export type Capture = Screenshot | Video

/** Path of a kind of captures in the API and in the console. */
export type Collection = 'screenshots' | 'videos'

export const isVideo = (capture: Capture): capture is Video => 'duration_ms' in capture

export const collectionOf = (capture: Capture): Collection => (isVideo(capture) ? 'videos' : 'screenshots')

/** Names of the kinds in texts. */
export const NOUNS: Readonly<Record<Collection, { one: string; many: string }>> = {
  screenshots: { one: 'screenshot', many: 'screenshots' },
  videos: { one: 'video', many: 'videos' },
}

/** Titles of the kinds. */
export const TITLES: Readonly<Record<Collection, string>> = { screenshots: 'Screenshots', videos: 'Videos' }

/** URL of a record in the API. */
export const recordPath = (collection: Collection, id: string): string => `/${collection}/${encodeURIComponent(id)}`
