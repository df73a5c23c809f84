import t from 'tap'
import { POOL_REASONS, SCREENSHOT_REASONS } from '../../../../operator/src/kube/condition-reasons.ts'

for (const [reason, { meaning, event }] of Object.entries({ ...SCREENSHOT_REASONS, ...POOL_REASONS })) {
  t.test(`the reason ${reason} is one word and has a meaning`, async (t) => {
    t.match(reason, /^([A-Z][a-z]+)+$/)
    t.match(meaning, /^[A-Z].*\.$/)
    t.type(event, 'boolean')
  })
}
