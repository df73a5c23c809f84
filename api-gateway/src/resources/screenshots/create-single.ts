import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { type CreateDeps, type CreateRequest, createScreenshots } from '../../creation/create.ts'
import type { ScreenshotStore } from '../../store/ports.ts'

export interface SingleDeps extends CreateDeps {
  screenshots: CreateDeps['screenshots'] & Pick<ScreenshotStore, 'find'>
}

/** Creates one screenshot, or finds the one that an earlier request with the same Idempotency-Key created. */
export async function createSingle(request: CreateRequest, deps: SingleDeps): Promise<Screenshot> {
  const { execution, account } = request
  const [id = ''] = execution.plan.ids
  if (execution.result !== undefined) {
    const { name } = account.metadata
    const live = await deps.screenshots.find(id)
    const found = live && accountOf(live) === name ? live : await deps.archive.find(name, id)
    return found ?? asCreated(request)
  }
  const { items } = await createScreenshots(request, deps)
  await execution.complete({})
  return items[0]?.screenshot ?? asCreated(request)
}

/** Rebuilds the object for a replayed response when the screenshot no longer exists. */
async function asCreated({ build, execution }: CreateRequest): Promise<Screenshot> {
  const [object] = await build()
  if (!object) throw new Error('the plan has no objects')
  const { name } = object.metadata
  const metadata = { name, namespace: '', uid: name, resourceVersion: '0', creationTimestamp: execution.plan.at }
  return { metadata, spec: object.spec, status: { phase: 'Pending' } }
}
