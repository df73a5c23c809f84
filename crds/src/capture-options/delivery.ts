/** How the picture is handed over. */
export const deliveryOptions = {}

export const deliveryDefaults = {}
