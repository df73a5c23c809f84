import type { Account } from '../src/kinds/account.ts'
import type { AccountUsage } from '../src/kinds/account-usage.ts'
import type { ApiKey } from '../src/kinds/api-key.ts'
import type { RunnerPool } from '../src/kinds/runner-pool.ts'
import type { Screenshot } from '../src/kinds/screenshot.ts'
import type { Webhook } from '../src/kinds/webhook.ts'
import { tintypeResource } from './resource.ts'

export const screenshots = tintypeResource<Screenshot>('Screenshot', 'screenshots')
export const webhooks = tintypeResource<Webhook>('Webhook', 'webhooks')
export const accounts = tintypeResource<Account>('Account', 'accounts')
export const accountUsages = tintypeResource<AccountUsage>('AccountUsage', 'accountusages')
export const apiKeys = tintypeResource<ApiKey>('ApiKey', 'apikeys')
export const runnerPools = tintypeResource<RunnerPool>('RunnerPool', 'runnerpools')
