import type { Definition } from '../schema/custom-resource.ts'
import { accountDefinition, accountUsageDefinition } from './account.ts'
import { apiKeyDefinition } from './api-key.ts'
import { runnerPoolDefinition } from './runner-pool.ts'
import { screenshotDefinition } from './screenshot.ts'
import { screenshotScheduleDefinition } from './screenshot-schedule.ts'
import { webhookDefinition } from './webhook.ts'

/** Every kind of the API group. */
export const definitions: readonly Definition[] = [
  screenshotDefinition,
  screenshotScheduleDefinition,
  webhookDefinition,
  accountDefinition,
  accountUsageDefinition,
  apiKeyDefinition,
  runnerPoolDefinition,
]
