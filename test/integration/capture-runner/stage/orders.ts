import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import pino from 'pino'
import { createMemoryWatch } from '../../../../capture-runner/src/runtime/memory-watch.ts'
import { LOOPBACK_POLICY, type Studio } from './studio.ts'

/** An order as the operator sends it. */
export const anOrder = (given: Pick<CaptureOrder, 'url' | 'upload'> & Partial<CaptureOrder>): CaptureOrder => ({
  ...{ uid: 'u', name: 'n', namespace: 'default', accountName: 'default', attempt: 1, deadline: Date.now() + 60_000 },
  ...given,
})

/** What a runner carries out its orders with. */
export const partsOf = ({ browsers, httpCache }: Pick<Studio, 'browsers' | 'httpCache'>) => ({
  ...{ browsers, httpCache, policy: LOOPBACK_POLICY },
  memory: createMemoryWatch({ limitBytes: undefined, log: pino({ level: 'silent' }) }),
})
