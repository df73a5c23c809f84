import { Annotation } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isRestored } from '@tintype/crds/records/named-record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'

/**
 * True when its deletion was requested, and the object only remains until its deliveries have completed. Also for an object that only shows its
 * archived record, which clients read under the id of that record.
 */
export const isHidden = ({ metadata, status }: Pick<Screenshot, 'metadata' | 'status'>): boolean =>
  metadata.annotations?.[Annotation.deleteRequested] !== undefined || isBeingDeleted({ metadata }) || isRestored({ status })

/** True while a delivery of this screenshot is pending. */
export const hasOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  Object.values(status?.deliveries ?? {}).some((receivers) => Object.values(receivers).some(({ state }) => state === 'open'))

/** Pending deliveries as `<webhook>/<event>`, with the names in `status.deliveries`. */
export const findOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): string[] =>
  Object.entries(status?.deliveries ?? {}).flatMap(([event, receivers]) =>
    Object.entries(receivers).flatMap(([webhook, { state }]) => (state === 'open' ? `${webhook}/${event}` : [])),
  )
