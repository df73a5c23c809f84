import { dayOf, tombstonesPrefix } from '@tintype/crds/storage-keys'
import { type Objects, PAGE } from '../storage/objects.ts'

/** Which of an account's ids are marked as deleted. One list a day and thousand marks in between; no order is asked of the ids. */
export async function findBuried(account: string, ids: readonly string[], objects: Pick<Objects, 'list'>): Promise<Set<string>> {
  const byDay = Map.groupBy([...ids].sort(), dayOf)
  const buried = new Set<string>()
  for (const [day, wanted] of byDay) {
    const marked = await listMarked(tombstonesPrefix(account, day), wanted[0]!, wanted.at(-1)!, objects)
    for (const id of wanted) if (marked.has(id)) buried.add(id)
  }
  return buried
}

async function listMarked(prefix: string, first: string, last: string, objects: Pick<Objects, 'list'>): Promise<Set<string>> {
  const marked = new Set<string>()
  // Shorter than an id, so that the first itself is listed.
  for (let after = prefix + first.slice(0, -1); ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    for (const key of keys) marked.add(key.slice(prefix.length))
    const end = keys.at(-1)
    if (end === undefined || keys.length < PAGE || end > prefix + last) return marked
    after = end
  }
}
