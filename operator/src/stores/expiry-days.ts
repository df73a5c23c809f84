import { folders } from '@tintype/crds/records/folders'
import type { ExpiryDays } from './driver.ts'

/** Retention of the release in days. */
export interface KeptDays {
  /** Retention of files in the plan with the longest one. */
  fileDays: number
  recordDays: number
}

/** Days after which the store deletes the objects of each folder. */
export const expiryDays = ({ fileDays, recordDays }: KeptDays): ExpiryDays =>
  Object.fromEntries(
    folders.flatMap(({ name, deletion: { storeDays } }) => {
      const days = { files: fileDays + 1, records: recordDays, never: undefined }
      const count = typeof storeDays === 'number' ? storeDays : days[storeDays]
      return count === undefined ? [] : [[name, count]]
    }),
  )
