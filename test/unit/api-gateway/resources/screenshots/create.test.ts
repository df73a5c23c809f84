import t from 'tap'
import { toCreated } from '../../../../../api-gateway/src/resources/screenshots/create.ts'
import { toRecord } from '../../../../../crds/src/records/record.ts'
import { aScreenshot } from '../../fakes.ts'

t.test('toCreated says pending, with exactly the fields of the specification', async (t) => {
  const record = toRecord(aScreenshot({ phase: 'Completed' }), () => ({ url: '/files', expires: 1 }))
  const created = toCreated(record)
  t.strictSame(Object.keys(created), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
  t.equal(created.status, 'pending')
})
