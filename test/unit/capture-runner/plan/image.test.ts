import t from 'tap'
import { hasOwnCanvas, parseColor } from '../../../../capture-runner/src/plan/image.ts'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'

const colors: [text: string, color: number[]][] = [
  ['#fff', [255, 255, 255, 1]],
  ['#0f08', [0, 255, 0, 136 / 255]],
  ['#336699', [51, 102, 153, 1]],
  ['#33669980', [51, 102, 153, 128 / 255]],
  ['rgb(1,2,3)', [1, 2, 3, 1]],
  ['rgb( 1 , 2 , 300 )', [1, 2, 255, 1]],
  ['rgba(10, 20, 30, 0.5)', [10, 20, 30, 0.5]],
  ['transparent', [0, 0, 0, 0]],
  ['orange', [255, 165, 0, 1]],
]

for (const [text, [r, g, b, alpha]] of colors) {
  t.test(`parseColor reads ${text}`, async (t) => {
    t.ok(CaptureOptions.safeParse({ imageBackground: text }).success, 'accepted by the schema')
    t.strictSame(parseColor(text), { r, g, b, alpha })
  })
}

t.test('the schema accepts only colors that parseColor supports', async (t) => {
  for (const text of ['#12', '#12345', 'rgb(1,2)', 'rgb(1,2,3', 'mauve', 'url(x)', 'red;', '#ggg', ''])
    t.notOk(CaptureOptions.safeParse({ imageBackground: text }).success, text)
})

t.test('a page without a background is white, unless the client asks for another color or none', async (t) => {
  t.notOk(hasOwnCanvas({ format: 'png', transparent: false }))
  t.ok(hasOwnCanvas({ format: 'png', transparent: true }))
  t.ok(hasOwnCanvas({ format: 'png', transparent: false, canvas: { r: 0, g: 0, b: 0, alpha: 1 } }))
})
