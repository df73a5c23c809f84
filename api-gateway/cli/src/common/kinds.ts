import { type Tintype, TintypeError } from '../../../client/src/index.ts'

// Screenshots and videos are two collections of the API. A person who types a command has one: captures.

type Screenshots = Tintype['screenshots']

/** Formats of videos. */
export const VIDEO_FORMATS: readonly string[] = ['mp4', 'webm', 'gif']

/** The calls of videos. Their records have the fields of a screenshot's, and three more. */
const videosOf = (client: Tintype): Screenshots => client.videos as unknown as Screenshots

/** The calls of both kinds. */
export const bothKinds = (client: Tintype): [screenshots: Screenshots, videos: Screenshots] => [client.screenshots, videosOf(client)]

/** The calls for captures in this format. */
export const capturesIn = (client: Tintype, format: unknown): Screenshots =>
  VIDEO_FORMATS.some((video) => video === format) ? videosOf(client) : client.screenshots

/**
 * Calls `work` with the kind that the id belongs to.
 * @throws TintypeError NOT_FOUND if it belongs to neither
 */
export async function withKindOf<T>(client: Tintype, work: (captures: Screenshots) => Promise<T>): Promise<T> {
  try {
    return await work(client.screenshots)
  } catch (error) {
    if (!(error instanceof TintypeError) || error.status !== 404) throw error
    return work(videosOf(client)).catch((second: unknown) => {
      throw second instanceof TintypeError && second.status === 404 ? error : second
    })
  }
}
