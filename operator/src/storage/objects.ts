import type { Client } from 'minio'
import { RetryableError } from '../controller/errors.ts'

/** Which keys to list: at most `limit` (1000 at most) beyond the key `after`; `folders` gives what a slash ends. */
export interface ListKeys {
  after?: string | undefined
  limit?: number
  folders?: boolean
}

/** Small objects in the bucket. Every method may be repeated; errors of the store are RetryableErrors. */
export interface Objects {
  write(key: string, text: string): Promise<void>
  /** Keys that begin with a prefix, in order: one page. */
  list(prefix: string, options?: ListKeys): Promise<string[]>
  remove(keys: readonly string[]): Promise<void>
}

const TIMEOUT_MILLISECONDS = 10_000

/** Keys that a store lists or removes at once. */
export const PAGE = 1_000

/** Writes and lists by the minio client, which is loaded when it is first asked for. */
export function openObjects(bucket: string, connect: () => Promise<Client>): Objects {
  const call = <T>(what: string, act: (client: Client) => Promise<T>): Promise<T> => retryable(what, async () => act(await connect()))
  return {
    write: (key, text) =>
      call('write an object', async (client) => {
        await client.putObject(bucket, key, text, Buffer.byteLength(text), { 'content-type': 'application/json' })
      }),
    list: (prefix, { after = '', limit = PAGE, folders = false } = {}) =>
      call('list objects', async (client) => {
        const { objects } = await client.listObjectsV2Query(bucket, prefix, '', folders ? '/' : '', limit, after)
        return objects.map((entry) => ('prefix' in entry ? entry.prefix : entry.name) ?? '')
      }),
    remove: (keys) =>
      call('remove objects', async (client) => {
        if (keys.length === 0) return
        const refused = (await client.removeObjects(bucket, [...keys])).find((answer) => answer?.Error)
        if (refused) throw new Error(`${keys.length} objects: ${refused.Error?.Code}`)
      }),
  }
}

/** The client has no time-out of its own: a store that hangs would hold a worker for ever. */
export async function retryable<T>(what: string, call: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${TIMEOUT_MILLISECONDS} ms`)), TIMEOUT_MILLISECONDS)
  try {
    return await Promise.race([call(), late.promise])
  } catch (cause) {
    throw new RetryableError(what, { cause })
  } finally {
    clearTimeout(timer)
  }
}
