import type { ReportIgnored, StoredKind } from '../src/records/ignored-objects.ts'
import { isTooLarge } from './port.ts'

/** Waits for a read. Reports an object that is larger than Tintype writes it, and treats it as absent. */
export async function unlessTooLarge<T>(kind: StoredKind, key: string, read: Promise<T>, report: ReportIgnored): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (!isTooLarge(error)) throw error
    report({ kind, reason: 'size', key })
    return undefined
  }
}

/** Like {@link unlessTooLarge}, but returns an empty text for an object that is too large, to distinguish it from a missing one. */
export async function emptyIfTooLarge(read: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await read
  } catch (error) {
    if (isTooLarge(error)) return ''
    throw error
  }
}
