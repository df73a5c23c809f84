import { longestRetention, PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { StoreName } from '../stores/driver.ts'
import { expiryDays } from '../stores/expiry-days.ts'

/** Environment variables of every program that sets up or cleans a bundled store. */
export const storeSettings = {
  /** The bundled store. */
  TINTYPE_STORAGE_KIND: StoreName.default('minio'),
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63),
  /** Days after which records, and remaining data of their files, are deleted. */
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  /** The plans as JSON. The store keeps files for the longest retention of them. */
  TINTYPE_PLANS: PlansText,
}

export const expiryDaysOf = (read: z.infer<z.ZodObject<typeof storeSettings>>) =>
  expiryDays({ fileDays: longestRetention(read.TINTYPE_PLANS), recordDays: read.TINTYPE_RETENTION_RECORD_DAYS })
