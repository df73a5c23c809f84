import t from 'tap'
import { imageSettings, withImage } from '../../cluster/release/release.ts'

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
