import type { KeyRing } from '@tintype/crds/download-link'
import type { IgnoreReason } from '@tintype/crds/stored/ignored-objects'
import { isFuture, parseStoredJson } from '@tintype/crds/stored/stored-json'
import { z } from 'zod'
import { CreationPlan, isConsistent } from './plan.ts'
import { isEntrySigned, signEntry } from './request-hash.ts'

// What is known of an Idempotency-Key, as it lies in the bucket. A plan makes screenshots, so an entry is signed with the release's keys and bound
// to its place: one that somebody else wrote there, or copied from elsewhere, counts as absent.

/** How long a key is remembered, from its first use. */
export const RETENTION_MILLISECONDS = 86_400_000

/** What is known. */
export const Entry = z.object({
  hash: z.string().regex(/^[a-z0-9]{1,16}\.[A-Za-z0-9_-]{43}$/),
  plan: CreationPlan,
  /** When a process last took it in hand. */
  takenAt: z.iso.datetime(),
  /** What was answered, as far as the plan does not say it. */
  result: z.json().optional(),
})
export type Entry = z.infer<typeof Entry>

const Signed = Entry.extend({ version: z.literal(2), signature: z.string().max(128) })
const LegacyEntry = Entry.extend({ version: z.literal(1) })

/** The text of an entry. */
export function toEntryText(objectKey: string, entry: Entry, ring: KeyRing): string {
  const { hash, plan, takenAt, result } = entry
  const content = { hash, plan, takenAt, ...(result === undefined ? {} : { result }) }
  return JSON.stringify({ version: 2, ...content, signature: signEntry(objectKey, content, ring) })
}

/** Reads what {@link toEntryText} wrote for a place, or says why it counts as absent. */
export function readEntry(text: string, objectKey: string, ring: KeyRing, now: Date): Entry | IgnoreReason {
  const { data } = Signed.safeParse(parseStoredJson(text))
  if (!data) return 'content'
  const { version: _, signature, ...entry } = data
  return isEntrySigned(objectKey, entry, signature, ring) ? checkPlan(entry, now) : 'content'
}

/** Reads what earlier versions wrote: without a signature, so its age decides, and the keyed hash in it. */
export function readLegacyEntry(text: string, { keys }: KeyRing, now: Date): Entry | IgnoreReason {
  const { data } = LegacyEntry.safeParse(parseStoredJson(text))
  if (!data || !Object.hasOwn(keys, data.hash.split('.')[0]!)) return 'content'
  const { version: _, ...entry } = data
  return checkPlan(entry, now)
}

function checkPlan(entry: Entry, now: Date): Entry | IgnoreReason {
  const { plan, takenAt } = entry
  if (!isConsistent(plan)) return 'id'
  return isFuture(new Date(plan.at), now) || isFuture(new Date(takenAt), now) ? 'time' : entry
}

/** True for an entry that is not remembered any more. */
export const isExpired = ({ plan }: Entry, now: Date): boolean => now.getTime() - Date.parse(plan.at) >= RETENTION_MILLISECONDS
