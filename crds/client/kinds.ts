import type { Account, AccountUsage, StoredUsageStatus } from '../src/kinds/account.ts'
import type { ApiKey } from '../src/kinds/api-key.ts'
import type { RunnerPool } from '../src/kinds/runner-pool.ts'
import type { Screenshot } from '../src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../src/kinds/screenshot-schedule.ts'
import type { Webhook } from '../src/kinds/webhook.ts'
import { readStoredStatus, toStoredStatus } from '../src/usage/stored-usage.ts'
import { type Form, tintypeResource } from './resource.ts'

const usageForm: Form<AccountUsage> = {
  read: ({ status, ...usage }) => ({ ...usage, ...(status ? { status: readStoredStatus(status as StoredUsageStatus) } : {}) }),
  write: ({ status, ...usage }) => ({ ...usage, ...(status ? { status: toStoredStatus(status) } : {}) }),
}

export const screenshots = tintypeResource<Screenshot>('Screenshot', 'screenshots')
export const screenshotSchedules = tintypeResource<ScreenshotSchedule>('ScreenshotSchedule', 'screenshotschedules')
export const webhooks = tintypeResource<Webhook>('Webhook', 'webhooks')
export const accounts = tintypeResource<Account>('Account', 'accounts')
export const accountUsages = tintypeResource<AccountUsage>('AccountUsage', 'accountusages', usageForm)
export const apiKeys = tintypeResource<ApiKey>('ApiKey', 'apikeys')
export const runnerPools = tintypeResource<RunnerPool>('RunnerPool', 'runnerpools')
