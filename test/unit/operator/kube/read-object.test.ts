import t from 'tap'
import { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { readObject } from '../../../../operator/src/kube/read-object.ts'
import { aScreenshot } from '../../../support/fakes/builders.ts'

t.test('readObject parses an object once for all controllers that read it', async (t) => {
  let reads = 0
  const schema = {
    safeParse: (object: unknown) => {
      reads++
      return Screenshot.safeParse(object)
    },
  }
  const object = aScreenshot()
  const first = readObject('Screenshot', schema, object)
  t.equal(readObject('Screenshot', schema, object), first)
  t.equal(reads, 1)
  readObject('Screenshot', schema, { ...object })
  t.equal(reads, 2, 'a replaced object is parsed again')
})

t.test('readObject throws a terminal error that names an object which does not match its schema', async (t) => {
  const wrong = { ...aScreenshot(), spec: { url: 7 } } as unknown as Screenshot
  t.throws(() => readObject('Screenshot', Screenshot, wrong), {
    reason: 'InvalidObject',
    message: /the Screenshot .+ does not match its schema/,
  })
})
