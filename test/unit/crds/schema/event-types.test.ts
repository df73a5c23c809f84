import t from 'tap'
import { EVENT_TYPES } from '../../../../crds/src/schema/event-types.ts'

t.test('EVENT_TYPES lists the documented event types', async (t) => {
  t.strictSame([...EVENT_TYPES], ['screenshot.queued', 'screenshot.completed', 'screenshot.failed', 'video.completed', 'video.failed'])
})
