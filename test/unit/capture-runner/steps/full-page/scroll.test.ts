import t from 'tap'
import { placesOf } from '../../../../../capture-runner/src/steps/full-page/scroll.ts'

t.test('placesOf moves monotonically from one position to the next', async (t) => {
  const places = placesOf(1_000, 2_080)
  t.equal(places.at(-1), 2_080)
  t.ok(places.length > 2)
  for (const [index, place] of places.entries()) t.ok(place > (places[index - 1] ?? 1_000))
})
