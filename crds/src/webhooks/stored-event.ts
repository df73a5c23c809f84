import { z } from 'zod'
import type { IgnoreReason } from '../records/ignored-objects.ts'
import { parseStoredJson } from '../records/stored-json.ts'
import type { Envelope } from './events.ts'

// Retries post the stored bytes of an event, signed with the endpoint's secret. The endpoint trusts the signature, so the operator checks that
// the stored bytes belong to the event, and that their links belong to its account.

const Link = z.string().max(65_536).nullable().optional()
const StoredEvent = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  data: z.looseObject({
    screenshot: z.looseObject({
      id: z.string(),
      url: z.string(),
      status: z.string(),
      storage_path: z.string().nullable(),
      download_url: Link,
      artifacts: z.array(z.looseObject({ download_url: Link })).optional(),
    }),
  }),
})
type StoredEvent = z.infer<typeof StoredEvent>

/** The known facts about an event whose Screenshot is deleted. */
export interface EventFacts {
  id: string
  type: string
  screenshot: string
  account: string
  publicUrl: string
}

/** A link without its query, which changes when the signing key is rotated. */
const placeOf = (link: string | null | undefined): string | undefined => link?.split('?', 1)[0]

const linksOf = ({ data: { screenshot } }: Pick<Envelope, 'data'> | StoredEvent): (string | undefined)[] =>
  [screenshot.download_url, ...(screenshot.artifacts ?? []).map(({ download_url: link }) => link)].map(placeOf)

const parseStored = (text: string): StoredEvent | undefined => StoredEvent.safeParse(parseStoredJson(text)).data

/** Compares stored bytes with the rebuilt event. Returns why they differ, or undefined if they match. Ignores the signatures of links. */
export function findMismatch(text: string, built: Envelope): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored) return 'content'
  const { screenshot } = stored.data
  const wanted = built.data.screenshot
  if (stored.id !== built.id || screenshot.id !== wanted.id) return 'id'
  const isSame =
    stored.type === built.type &&
    stored.created_at === built.created_at &&
    screenshot.url === wanted.url &&
    screenshot.status === wanted.status &&
    screenshot.storage_path === wanted.storage_path &&
    String(linksOf(stored)) === String(linksOf(built))
  return isSame ? undefined : 'content'
}

/** Like {@link findMismatch}, for an event whose Screenshot is deleted. */
export function findMismatchOfDeleted(text: string, { id, type, screenshot, account, publicUrl }: EventFacts): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored || stored.type !== type) return 'content'
  const { screenshot: record } = stored.data
  if (stored.id !== id || record.id !== screenshot) return 'id'
  const own = `users/${account}/${screenshot}.`
  if (record.storage_path !== null && !record.storage_path.startsWith(own)) return 'account'
  return linksOf(stored).every((link) => link === undefined || link.startsWith(`${publicUrl}/files/${own}`)) ? undefined : 'account'
}
