import t from 'tap'
import { imageSettings, withImage } from '../../cluster/release/release.ts'

t.test('imageSettings gives each program of the chart the tag of its image', async (t) => {
  const tags = new Map([
    ['api-gateway', 'aaa'],
    ['minio', 'bbb'],
    ['sites', 'ccc'],
  ])
  t.strictSame(imageSettings(tags), ['gateway.image.tag=aaa', 'minio.image.tag=bbb'])
})

t.test('withImage puts the tag of this build into a manifest', async (t) => {
  const manifest = 'image: localhost/tintype/sites:dev\nimage: localhost/tintype/other:dev\n'
  t.equal(
    withImage(manifest, 'sites', new Map([['sites', 'aaa']])),
    'image: localhost/tintype/sites:aaa\nimage: localhost/tintype/other:dev\n',
  )
  t.equal(withImage(manifest, 'sites', new Map()), manifest)
})
