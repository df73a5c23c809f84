import t from 'tap'
import { capture, download } from '../support/cluster/api-client.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

t.test('the deployed runner draws a PDF', async (t) => {
  const record = await capture(page('/pdf'), { viewport_width: 400, viewport_height: 200 })
  t.equal(record.status, 'completed')
  t.ok(isNear((await decode(await download(record))).at(390, 190), [0, 255, 0]))
})
