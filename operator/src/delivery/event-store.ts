import type { StorageAccess } from '@tintype/crds/presign'
import { openStorage } from '../storage/storage.ts'
import type { EventStore } from './event-bytes.ts'

/** A post waits for the store no longer: without it the event is built again. */
const TIMEOUT_MILLISECONDS = 2_000
/** An event holds a record, and its lists of warnings and artifacts. */
const MAX_EVENT_BYTES = 1024 * 1024

/** Keeps events in the release's bucket. */
export function openEventStore(access: StorageAccess): EventStore {
  const storage = openStorage(access, { timeoutMilliseconds: TIMEOUT_MILLISECONDS })
  return {
    put: (key, body) => storage.write(key, body),
    get: (key) => storage.readText(key, MAX_EVENT_BYTES),
  }
}
