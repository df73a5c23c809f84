import { type JsonPatchOperation, jsonPatch, type Patch, pointer } from '@tintype/crds/client/patch'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { LedgerChange } from './decide.ts'

type Ledger = Record<string, Record<string, DeliveryEntry>>

const ROOT = ['status', 'deliveries'] as const

/**
 * The one write of the ledger: a JSON patch that touches `status.deliveries` alone and rests on what it means, not on the
 * resourceVersion: the same object, and in each place the entry that was looked at. `test` with null passes where there is nothing.
 */
export function toLedgerPatch({ metadata, status }: Screenshot, changes: readonly LedgerChange[]): Patch {
  const ledger: Ledger | undefined = status?.deliveries
  const additions = ledger === undefined ? [addAll(changes)] : addBelow(ledger, changes)
  const tests = additions.map(({ path, before }) => [path, before ?? null])
  const operations = additions.map(({ path, value }): JsonPatchOperation => ({ op: 'add', path, value }))
  return jsonPatch(operations, { [pointer('metadata', 'uid')]: metadata.uid, ...Object.fromEntries(tests) })
}

interface Addition {
  path: string
  before: DeliveryEntry | undefined
  value: unknown
}

const addAll = (changes: readonly LedgerChange[]): Addition => ({ path: pointer(...ROOT), before: undefined, value: toLedger(changes) })

function addBelow(ledger: Ledger, changes: readonly LedgerChange[]): Addition[] {
  const inNewEvents = changes.filter(({ event }) => ledger[event] === undefined)
  const inKnownEvents = changes.filter(({ event }) => ledger[event] !== undefined)
  return [
    ...Object.entries(toLedger(inNewEvents)).map(([event, value]) => ({ path: pointer(...ROOT, event), before: undefined, value })),
    ...inKnownEvents.map(({ event, webhook, before, after }) => ({ path: pointer(...ROOT, event, webhook), before, value: after })),
  ]
}

function toLedger(changes: readonly LedgerChange[]): Ledger {
  const ledger: Ledger = {}
  for (const { event, webhook, after } of changes) ledger[event] = { ...ledger[event], [webhook]: after }
  return ledger
}
