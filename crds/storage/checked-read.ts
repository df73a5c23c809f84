import type { ReportIgnored, StoredKind } from '../src/records/ignored-objects.ts'
import { isTooLarge } from './port.ts'

/** Waits for an object to be read; one that is longer than Tintype writes it is reported and counts as absent. */
export async function unlessTooLarge<T>(kind: StoredKind, key: string, read: Promise<T>, report: ReportIgnored): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (!isTooLarge(error)) throw error
    report({ kind, reason: 'size', key })
    return undefined
  }
}

/** As {@link unlessTooLarge}, where an object that is gone must be told from one that is too long: that one is empty. */
export async function emptyIfTooLarge(read: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await read
  } catch (error) {
    if (isTooLarge(error)) return ''
    throw error
  }
}
