import t from 'tap'
import { POOL_REASONS, SCHEDULE_REASONS, SCREENSHOT_REASONS } from '../../../../operator/src/kube/condition-reasons.ts'

t.test('reasons are written as Kubernetes requires it', async (t) => {
  for (const reason of Object.keys({ ...SCREENSHOT_REASONS, ...POOL_REASONS, ...SCHEDULE_REASONS })) t.match(reason, /^([A-Z][a-z]+)+$/)
})
