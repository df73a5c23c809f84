import { createdAtOf } from '@tintype/crds/identifiers/ids'
import { invertedDay, parseRecordKey, parseTombstoneKey, recordsPrefix } from '@tintype/crds/records/storage-keys'
import { type ObjectStorage, PAGE } from '@tintype/crds/storage/port'
import { monthOf } from '@tintype/crds/usage/usage'

const DAY_DIGITS = 5

/**
 * Ids of an account's screenshots of the current month that are only in the bucket: archived and deleted ones. Keys sort newest day first,
 * so one scan from the start covers exactly this month.
 */
export async function listPastIds(account: string, now: Date, objects: Pick<ObjectStorage, 'list'>): Promise<Set<string>> {
  const month = monthOf(now)
  const prefix = recordsPrefix(account)
  const oldest = invertedDay(new Date(`${month}-01T00:00:00.000Z`))
  const ids = new Set<string>()
  for (let after: string | undefined; ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    for (const key of keys) {
      if (key.slice(prefix.length, prefix.length + DAY_DIGITS) > oldest) return ids
      const id = parseRecordKey(key)?.id ?? parseTombstoneKey(key)?.id
      if (id !== undefined && monthOf(createdAtOf(id)) === month) ids.add(id)
    }
    if (keys.length < PAGE) return ids
    after = keys.at(-1)
  }
}
