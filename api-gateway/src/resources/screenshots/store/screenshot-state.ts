import { Annotation } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'

/** True when its deletion was requested. The object only remains until its deliveries have completed. */
export const isDeleted = ({ metadata }: Pick<Screenshot, 'metadata'>): boolean =>
  metadata.annotations?.[Annotation.deleteRequested] !== undefined || metadata.deletionTimestamp !== undefined

/** True while a delivery of this screenshot is pending. */
export const hasOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  Object.values(status?.deliveries ?? {}).some((receivers) => Object.values(receivers).some(({ state }) => state === 'open'))

/** Pending deliveries as `<webhook>/<event>`, with the names in `status.deliveries`. */
export const findOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): string[] =>
  Object.entries(status?.deliveries ?? {}).flatMap(([event, receivers]) =>
    Object.entries(receivers).flatMap(([webhook, { state }]) => (state === 'open' ? `${webhook}/${event}` : [])),
  )
