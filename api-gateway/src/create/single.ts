import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import type { ScreenshotStore } from '../store/ports.ts'
import { type CreateDeps, type CreateRequest, createScreenshots } from './create.ts'

export interface SingleDeps extends CreateDeps {
  screenshots: CreateDeps['screenshots'] & Pick<ScreenshotStore, 'find'>
}

/** Creates one screenshot, or finds the one that an earlier request with the same key created. */
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

/** The object as it was created, of which nothing is left but what was asked for: what is repeated is answered as before. */
async function asCreated({ build, execution }: CreateRequest): Promise<Screenshot> {
  const [object] = await build()
  if (!object) throw new Error('there is nothing to create')
  const { name } = object.metadata
  const metadata = { name, namespace: '', uid: name, resourceVersion: '0', creationTimestamp: execution.plan.at }
  return { metadata, spec: object.spec, status: { phase: 'Pending' } }
}
