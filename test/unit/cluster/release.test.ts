import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { imageSettings, SHORT_RETRIES, withImage } from '../../cluster/release/release.ts'

t.test('imageSettings sets the image tag of each program of the chart', async (t) => {
  const tags = new Map([
    ['api-gateway', 'aaa'],
    ['minio', 'bbb'],
    ['versitygw', 'ccc'],
    ['sites', 'ddd'],
  ])
  t.strictSame(imageSettings(tags), ['gateway.image.tag=aaa', 'minio.image.tag=bbb', 'versitygw.image.tag=ccc'])
})

t.test('withImage replaces the tag in a manifest with the tag of this build', async (t) => {
  const manifest = 'image: localhost/tintype/sites:dev\nimage: localhost/tintype/other:dev\n'
  t.equal(
    withImage(manifest, 'sites', new Map([['sites', 'aaa']])),
    'image: localhost/tintype/sites:aaa\nimage: localhost/tintype/other:dev\n',
  )
  t.equal(withImage(manifest, 'sites', new Map()), manifest)
})

t.test('the local cluster retries webhooks as the chart does, so that an event outlives an outage there too', async (t) => {
  const values = readFileSync(path.join(import.meta.dirname, '../../cluster/release/values.yaml'), 'utf8')
  t.notOk('retryDelaysMilliseconds' in parse(values).webhooks)
  t.match(SHORT_RETRIES, /^webhooks\.retryDelaysMilliseconds=\{\d{1,4},\d{1,4}\}$/)
})
