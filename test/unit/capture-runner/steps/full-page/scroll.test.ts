import t from 'tap'
import { placesOf } from '../../../../../capture-runner/src/steps/full-page/scroll.ts'

t.test('placesOf goes from one place to the next through others, never back', async (t) => {
  const places = placesOf(1_000, 2_080)
  t.equal(places.at(-1), 2_080)
  t.ok(places.length > 2)
  for (const [index, place] of places.entries()) t.ok(place > (places[index - 1] ?? 1_000))
})
