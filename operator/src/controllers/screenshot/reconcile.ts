// rbac: tintype.dev/screenshots get,list,watch
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/runnerpools get,list,watch
// rbac: /pods get,list,watch,delete

import type { Requeue } from '../../controller-runtime/controller.ts'
import { TerminalError } from '../../controller-runtime/errors.ts'
import { apply } from './apply.ts'
import type { ScreenshotContext } from './context.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'

/** Reconciles one Screenshot. Level-triggered: it may run at any time and any number of times. */
export async function reconcile(key: string, context: ScreenshotContext): Promise<Requeue> {
  try {
    const observed = await observe(key, context)
    context.onClaimChecked(key)
    const actions = decide(observed, context.now())
    return { requeueAfterMilliseconds: await apply(key, observed.shot, actions, context) }
  } catch (error) {
    // A Screenshot in backoff must not keep a runner, and one that cannot be read must not block dispatching.
    context.dispatcher.drop(key)
    if (error instanceof TerminalError) context.onClaimChecked(key)
    throw error
  }
}
