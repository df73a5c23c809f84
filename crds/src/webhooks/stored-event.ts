import { z } from 'zod'
import type { IgnoreReason } from '../records/ignored-objects.ts'
import { objectKeyPrefix } from '../records/storage-keys.ts'
import { parseStoredJson } from '../records/stored-json.ts'
import { type Envelope, recordIn } from './events.ts'

// Retries post the stored bytes of an event, signed with the endpoint's secret. The endpoint trusts the signature, so the operator checks that
// the stored bytes belong to the event, and that their links belong to its account.

const Link = z.string().max(65_536).nullable().optional()
const StoredRecord = z.looseObject({
  id: z.string(),
  url: z.string(),
  status: z.string(),
  storage_path: z.string().nullable(),
  download_url: Link,
  artifacts: z.array(z.looseObject({ download_url: Link })).optional(),
  comparison: z.looseObject({ diff_url: Link }).nullable().optional(),
})
const StoredEvent = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  data: z.union([z.looseObject({ screenshot: StoredRecord }), z.looseObject({ video: StoredRecord })]),
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

type Linked = Pick<z.infer<typeof StoredRecord>, 'download_url'> & {
  artifacts?: readonly { download_url?: string | null | undefined }[] | undefined
  comparison?: { diff_url?: string | null | undefined } | null | undefined
}

/** A link without its query, which changes when the signing key is rotated. */
const placeOf = (link: string | null | undefined): string | undefined => link?.split('?', 1)[0]

const linksOf = ({ download_url: main, artifacts = [], comparison }: Linked): (string | undefined)[] =>
  [main, ...artifacts.map(({ download_url: link }) => link), comparison?.diff_url].map(placeOf)

/** True if the record is in the field of `data` where the type of the event has it. */
const isInPlace = ({ type, data }: StoredEvent): boolean => 'video' in data === type.startsWith('video.')

function parseStored(text: string): StoredEvent | undefined {
  const { data } = StoredEvent.safeParse(parseStoredJson(text))
  return data && isInPlace(data) ? data : undefined
}

/** Compares stored bytes with the rebuilt event. Returns why they differ, or undefined if they match. Ignores the signatures of links. */
export function findMismatch(text: string, built: Envelope): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored) return 'content'
  const record = recordIn(stored.data)
  const wanted = recordIn(built.data)
  if (stored.id !== built.id || record.id !== wanted.id) return 'id'
  const isSame =
    stored.type === built.type &&
    stored.created_at === built.created_at &&
    record.url === wanted.url &&
    record.status === wanted.status &&
    record.storage_path === wanted.storage_path &&
    String(linksOf(record)) === String(linksOf(wanted))
  return isSame ? undefined : 'content'
}

/** Like {@link findMismatch}, for an event whose Screenshot is deleted. */
export function findMismatchOfDeleted(text: string, { id, type, screenshot, account, publicUrl }: EventFacts): IgnoreReason | undefined {
  const stored = parseStored(text)
  if (!stored || stored.type !== type) return 'content'
  const record = recordIn(stored.data)
  if (stored.id !== id || record.id !== screenshot) return 'id'
  const own = objectKeyPrefix(account, screenshot)
  if (record.storage_path !== null && !record.storage_path.startsWith(own)) return 'account'
  return linksOf(record).every((link) => link === undefined || link.startsWith(`${publicUrl}/files/${own}`)) ? undefined : 'account'
}
