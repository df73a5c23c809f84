import { type JsonPatchOperation, jsonPatch, type Patch, pointer } from '@tintype/crds/client/resource'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { DeliveryStateChange } from './decide.ts'

type DeliveryStates = Record<string, Record<string, DeliveryEntry>>

const ROOT = ['status', 'deliveries'] as const

/**
 * The only write of status.deliveries: a JSON patch that touches nothing else. Instead of the resourceVersion, its `test` operations check
 * the uid and the previous entries. `test` with null passes where there is no entry.
 */
export function toDeliveryStatePatch({ metadata, status }: Screenshot, changes: readonly DeliveryStateChange[]): Patch {
  const states: DeliveryStates | undefined = status?.deliveries
  const additions = states === undefined ? [addAll(changes)] : addBelow(states, changes)
  const tests = additions.map(({ path, before }) => [path, before ?? null])
  const operations = additions.map(({ path, value }): JsonPatchOperation => ({ op: 'add', path, value }))
  return jsonPatch(operations, { [pointer('metadata', 'uid')]: metadata.uid, ...Object.fromEntries(tests) })
}

interface Addition {
  path: string
  before: DeliveryEntry | undefined
  value: unknown
}

const addAll = (changes: readonly DeliveryStateChange[]): Addition => ({
  path: pointer(...ROOT),
  before: undefined,
  value: toDeliveryStates(changes),
})

function addBelow(states: DeliveryStates, changes: readonly DeliveryStateChange[]): Addition[] {
  const inNewEvents = changes.filter(({ event }) => states[event] === undefined)
  const inKnownEvents = changes.filter(({ event }) => states[event] !== undefined)
  return [
    ...Object.entries(toDeliveryStates(inNewEvents)).map(([event, value]) => ({ path: pointer(...ROOT, event), before: undefined, value })),
    ...inKnownEvents.map(({ event, webhook, before, after }) => ({ path: pointer(...ROOT, event, webhook), before, value: after })),
  ]
}

function toDeliveryStates(changes: readonly DeliveryStateChange[]): DeliveryStates {
  const states: DeliveryStates = {}
  for (const { event, webhook, after } of changes) states[event] = { ...states[event], [webhook]: after }
  return states
}
