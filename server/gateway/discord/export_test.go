package discord

// Patience is how long opening a connection may take.
const Patience = patience
